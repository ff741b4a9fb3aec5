"""Bad tables: each is refused with one message that names file, line and column, what was found and what to do."""

import contextlib
import os
import random
import sys
import tracemalloc

import pytest
from cost import cpu

from lamina.errors import LaminaError
from lamina.tables import Options, TableError, headers, read
from lamina.tables.reading import read_record

HEAD = "depth,age_bp,age_sd,rsl,rsl_sd\n"
GOOD = HEAD + "1,100,10,-0.1,0.1\n2,200,10,-0.2,0.1\n3,300,10,-0.3,0.1\n4,400,10,-0.4,0.1\n"
ROW = "3,300,10,-0.3,0.1"


def bad(row: str) -> str:
    """The good table with another third row, which is line 4."""
    return GOOD.replace(ROW, row)


def header(names: str) -> str:
    """The good table under another header."""
    return GOOD.replace(HEAD, names + "\n")


#: name: (content, options, what the message says, piece by piece and in this order)
BAD = {
    "empty file": ("", {}, ["core.csv: the file is empty", "give a table with a header"]),
    "only comments": ("# nothing\n\n  \n# here\n", {}, ["core.csv: the file is empty"]),
    "only separators": (",,,\n,,,\n", {}, ["core.csv: the file is empty"]),
    "header only": (HEAD, {}, ["core.csv, line 1: there is a header, but no row", "add the measurements"]),
    "one row": (HEAD + ROW, {}, ["core.csv, line 2: there is only one row", "give two rows"]),
    "no header": (GOOD.replace(HEAD, ""), {}, ["core.csv, line 1: there is no header", "names of the columns"]),
    "a header among prose": (
        "# a core\n" + GOOD.partition("\n")[2],
        {},
        ["core.csv, line 2: there is no header", "without # in front"],
    ),
    "no header, but a missing cell": (
        "A-1,100,30,NA,0.2\nA-2,500,30,-1.0,0.2\n",
        {},
        ["core.csv, line 1: there is no header: the first row seems to hold measurements", '"A-1", "100"'],
    ),
    "one column": ("age\n1\n2\n", {}, ["core.csv, line 1: no comma, semicolon, tab or space", "save the table as CSV"]),
    "cells missing between spaces": (
        GOOD.replace(",", "  ").replace("  0.1\n", "\n", 1),
        {},
        ["core.csv, line", "the row has 4 cells, but the header in line 1 has 5", "missing cell"],
    ),
    "prose": ("Dear colleague\nhere is nothing\n", {}, ["core.csv, line 1: no comma", "save the table as CSV"]),
    "web page": ("<!DOCTYPE html>\n<html>\n", {}, ["core.csv: this is a web page", "download the table itself"]),
    "PDF": (b"%PDF-1.7\n\x00", {}, ["core.csv: this is a PDF document", "save the table as CSV"]),
    "zip": (b"PK\x03\x04\x00\x00", {}, ["core.csv: this is a zip or Excel file", "name the file .xlsx"]),
    "old Excel": (b"\xd0\xcf\x11\xe0\xa1", {}, ["core.csv: this is an old Excel file", "save it as .xlsx"]),
    "gzip": (b"\x1f\x8b\x08\x00", {}, ["core.csv: this is a compressed file", "unpack it"]),
    "binary": (bytes(range(256)) * 20, {}, ["core.csv: this is a binary file", "save the table as CSV"]),
    "control characters": (b"a,b\n" + b"\x01\x02\x03" * 99, {}, ["core.csv: this is a binary file"]),
    "endless line": (b"x," * 50_000, {}, ["core.csv: the first line does not end", "header line"]),
    "very wide": (",".join(f"c{i}" for i in range(2000)) + "\n1\n", {}, ["core.csv: there are more than 1000 columns"]),
    "no input": (
        header("depth,a,b,rsl,rsl_sd"),
        {},
        ["core.csv, line 1: no column holds the input", '"a", "b"', "--t COLUMN"],
    ),
    "radiocarbon without errors": (
        "depth,14C age,rsl,rsl_sd\n1,400,1,1\n2,500,1,1\n",
        {},
        [
            'core.csv, line 1, column "14C age": no column holds the errors of the radiocarbon ages',
            "14C error",
            "--t-sd",
        ],
    ),
    "the error of a radiocarbon age beside a calibrated one": (
        "depth,Age (14C yr BP),Age error (14C yr),Median age (cal BP),rsl,rsl_sd\n1,100,10,110,1,1\n2,200,9,210,1,1\n",
        {},
        ["core.csv, line 1: no column holds the error of the input", "--t-sd"],
    ),
    "an error that stands beside a radiocarbon age": (
        "depth,14C age,Age error,Median age (cal yr BP),rsl,rsl_sd\n1,100,10,110,1,1\n2,200,10,210,1,1\n",
        {},
        ["core.csv, line 1: no column holds the error of the input", "--t-sd"],
    ),
    "years BCE": (
        header("depth,Year (BCE),age_sd,rsl,rsl_sd"),
        {},
        ['core.csv, line 1, column "Year (BCE)": years BC or BCE', "as negative numbers"],
    ),
    "years BC": (
        header("depth,Date (cal BC),age_sd,rsl,rsl_sd"),
        {},
        ['core.csv, line 1, column "Date (cal BC)": years BC or BCE', "as negative numbers"],
    ),
    "the error of another output": (
        "depth,age_bp,age_sd,rsl,temp,temp_err\n1,100,10,1,20,5\n2,200,10,1,20,5\n",
        {},
        ["core.csv, line 1: no column holds the error of the output", "--y-sd"],
    ),
    "the error of another date": (
        "depth,age_bp,date,date_err,rsl,rsl_err\n1,100,2001,1,1,1\n2,200,2001,1,1,1\n",
        {},
        ["core.csv, line 1: no column holds the error of the input", "--t-sd"],
    ),
    "an error in percent": (
        header("depth,age_bp,age_sd,RSL (m),RSL error (%)"),
        {},
        ['core.csv, line 1, column "RSL error (%)": the error is in percent', "give it in m"],
    ),
    "a name that two columns have": (
        "depth,Age (BP),Age (CE),age_sd,rsl,rsl_sd\n1,100,1850,10,1,1\n2,200,1750,10,1,1\n",
        {"t": "age"},
        ['core.csv, line 1: 2 columns may be meant by "age": "Age (BP)", "Age (CE)"', "give the whole header"],
    ),
    "no output": (
        header("depth,age_bp,age_sd,b,c"),
        {},
        ["core.csv, line 1: no column holds the output", '"b", "c"', "--y COLUMN"],
    ),
    "no input error": (
        header("depth,age_bp,b,rsl,rsl_sd"),
        {},
        ["core.csv, line 1: no column holds the error of the input", "--t-sd"],
    ),
    "no output error": (
        header("depth,age_bp,age_sd,rsl,b"),
        {},
        ["core.csv, line 1: no column holds the error of the output", "--y-sd"],
    ),
    "no order": (
        header("a,age_bp,age_sd,rsl,rsl_sd"),
        {},
        ["core.csv, line 1: nothing says which row is older", "--order rows", "--order none"],
    ),
    "two inputs": (
        header("age_ce,age_bp,age_sd,rsl,rsl_sd"),
        {},
        ["core.csv, line 1: 2 columns may hold the input", '"age_ce", "age_bp"', "--t COLUMN"],
    ),
    "two outputs": (
        header("depth,age_bp,age_sd,d18O,d13C"),
        {},
        ["core.csv, line 1: 2 columns may hold the output", '"d18O", "d13C"', "--y COLUMN"],
    ),
    "two depths": (
        header("depth,depth,age_bp,rsl,rsl_sd"),
        {},
        ["core.csv, line 1: 2 columns may hold the depth", '"depth", "depth"', "--depth COLUMN"],
    ),
    "two input errors": (
        header("depth,age_bp,age_sd,age_err,rsl") + "",
        {"y_sd": "0.1"},
        ['core.csv, line 1: 2 columns may hold the error of the input: "age_sd", "age_err"', "--t-sd COLUMN"],
    ),
    "two upper errors": (
        "depth,age_bp,age +1s,age upper error,age -1s,rsl,rsl_sd\n1,100,10,11,10,1,1\n2,200,10,12,10,1,1\n",
        {},
        ['core.csv, line 1: 2 columns may hold the error of the input: "age +1s", "age upper error"', "--t-sd"],
    ),
    "all years in the future": (
        "depth,year,year_sd,rsl,rsl_sd\n1,3000,10,1,1\n2,4000,10,1,1\n",
        {},
        ['core.csv, line 2, column "year": 3000 CE lies in the future; say --scale BP'],
    ),
    "text in a number": (
        bad("3,old,10,-0.3,0.1"),
        {},
        ['core.csv, line 4, column "age_bp": found the text "old"', "correct the cell"],
    ),
    "text in the output": (bad("3,300,10,low,0.1"), {}, ['core.csv, line 4, column "rsl": found the text "low"']),
    "text in an error": (bad("3,300,ten,-0.3,0.1"), {}, ['core.csv, line 4, column "age_sd": found the text "ten"']),
    "text in the depth": (bad("top,300,10,-0.3,0.1"), {}, ['core.csv, line 4, column "depth": found the text "top"']),
    "number with its error": (
        bad("3,300±10,10,-0.3,0.1"),
        {},
        ['line 4, column "age_bp": found a value with its error', "column of its own"],
    ),
    "limit as a number": (bad("3,>300,10,-0.3,0.1"), {}, ['line 4, column "age_bp": found the limit ">300"', "reject"]),
    "dates as text": (
        bad("3,2003-05-01,10,-0.3,0.1"),
        {},
        ['core.csv, line 4, column "age_bp": found the date "2003-05-01"', "give decimal years, such as 1998.36"],
    ),
    "dates in words": (
        bad("3,12 May 1998,10,-0.3,0.1"),
        {},
        ['core.csv, line 4, column "age_bp": found the date "12 May 1998"', "give decimal years"],
    ),
    "limits of the input alone": (
        "depth,age_min,age_max,rsl,rsl_sd\n1,90,110,1,1\n2,190,210,1,1\n",
        {},
        ['core.csv, line 1: "age_min", "age_max" seem to be limits of the input', "add a column age with the middle"],
    ),
    "lower and upper alone": (
        "depth,lower,upper,rsl,rsl_sd\n1,90,110,1,1\n2,190,210,1,1\n",
        {},
        ['core.csv, line 1: "lower", "upper" seem to be limits of the input', "--t-sigma 1"],
    ),
    "limits of the output alone": (
        "depth,age,age_sd,rsl_lower,rsl_upper\n1,90,10,1,2\n2,190,10,1,2\n",
        {},
        ['core.csv, line 1: "rsl_lower", "rsl_upper" seem to be limits of the output', "add a column value"],
    ),
    "NaN": (bad("3,NaN,10,-0.3,0.1"), {}, ['line 4, column "age_bp": the input is missing ("NaN")', "fill it in"]),
    "NaN in the output": (
        bad("3,300,10,NA,0.1"),
        {},
        ['line 4, column "rsl": the output is missing ("NA")', "fill it in"],
    ),
    "infinite": (bad("3,inf,10,-0.3,0.1"), {}, ['line 4, column "age_bp": the input is missing ("inf")']),
    "too large a number": (bad("3,1e999,10,-0.3,0.1"), {}, ['line 4, column "age_bp": found the text "1e999"']),
    "empty cell": (bad("3,,10,-0.3,0.1"), {}, ['line 4, column "age_bp": the input is empty', "fill it in"]),
    "empty error": (bad("3,300,,-0.3,0.1"), {}, ['line 4, column "age_sd": the error is empty', "fill it in"]),
    "negative error": (
        bad("3,300,-10,-0.3,0.1"),
        {},
        ['line 4, column "age_sd": the error is negative ("-10")', "without sign"],
    ),
    "negative output error": (
        bad("3,300,10,-0.3,-0.1"),
        {},
        ['line 4, column "rsl_sd": the error is negative ("-0.1")'],
    ),
    "zero output error": (
        bad("3,300,10,-0.3,0"),
        {},
        ['line 4, column "rsl_sd": the error of the output is 0', "above 0"],
    ),
    "negative upper error": (
        "depth,age_bp,age +1s,age -1s,rsl,rsl_sd\n1,100,-10,10,1,1\n2,200,10,10,1,1\n",
        {},
        ['core.csv, line 2, column "age +1s": the error is negative ("-10")'],
    ),
    "lower errors with and without sign": (
        "depth,age_bp,age +1s,age -1s,rsl,rsl_sd\n1,100,10,10,1,1\n2,200,10,-10,1,1\n",
        {},
        ['core.csv, line 3, column "age -1s": the error is negative ("-10")'],
    ),
    "limits swapped": (
        "depth,age_bp,age_min,age_max,rsl,rsl_sd\n1,100,90,110,1,1\n2,200,210,190,1,1\n",
        {},
        ['core.csv, line 3, column "age_max": the upper limit 190 is below the lower limit 210', "swap"],
    ),
    "value outside its limits": (
        "depth,age_bp,age_min,age_max,rsl,rsl_sd\n1,100,90,110,1,1\n2,200,190,210,1,1\n3,350,290,310,1,1\n",
        {},
        ['core.csv, line 4, column "age_max": the value 350 is not between its limits 290 and 310', "correct"],
    ),
    "one and two sigma in one pair": (
        "depth,age_bp,age +1s,age -2s,rsl,rsl_sd\n1,100,10,10,1,1\n2,200,10,10,1,1\n",
        {},
        ['core.csv, line 1: "age +1s", "age -2s" are not of the same number of sigmas', "correct the headers"],
    ),
    "mixed scales in a column": (
        bad("3,300 BP,10,-0.3,0.1").replace("4,400", "4,400 CE"),
        {},
        ['core.csv, lines 4 and 5, column "age_bp": BP and CE are mixed', "one scale"],
    ),
    "scale in the cells": (
        bad("3,300 BP,10,-0.3,0.1"),
        {},
        ['line 4, column "age_bp": found the text "300 BP"', "--scale BP"],
    ),
    "mixed scales in the headers": (
        header("depth,age_ce,age_sd (BP),rsl,rsl_sd"),
        {},
        ["core.csv, line 1: BP and CE are mixed", "one scale"],
    ),
    "year in the future": (
        header("depth,year,age_sd,rsl,rsl_sd").replace("300", "3000"),
        {},
        ['line 4, column "year": 3000 CE lies in the future', "mixed"],
    ),
    "BP that must be CE": (
        bad("3,-300,10,-0.3,0.1"),
        {},
        ['line 4, column "age_bp": -300 BP lies in the future', "--scale CE"],
    ),
    "short row": (
        bad("3,300,10"),
        {},
        ["core.csv, line 4: the row has 3 cells, but the header in line 1 has 5", "missing cell"],
    ),
    "long row": (
        bad("3,300,10,-0.3,0.1,more"),
        {},
        ["core.csv, line 4: the row has 6 cells", "separator inside a text"],
    ),
    "row names": (
        HEAD + "a,1,100,10,1,1\nb,2,200,10,1,1\n",
        {},
        ["core.csv, lines 2 and 3: the row has 6 cells, but the header in line 1 has 5", "row names"],
    ),
    "open quote": (bad('3,300,10,"-0.3,0.1'), {}, ["core.csv, line 4: a quote is opened and not closed", "close it"]),
    "decimal points and commas": (
        GOOD.replace(",", ";").replace("2;200", "2;200,5"),
        {},
        ['core.csv, line 3, column "age_bp": found "200,5", but other numbers have a decimal point', "with a point"],
    ),
    "thousands beside decimal commas": (
        "depth;age_bp;age_sd;rsl;rsl_sd\n1;940,5;10;1,234;1,100\n2;1.040,5;10;1,234;1,100\n",
        {},
        ['core.csv, line 3, column "age_bp": found "1.040,5"', "thousands without a separator"],
    ),
    "pointed thousands beside decimal commas": (
        "depth;age_bp;age_sd;rsl;rsl_sd\n1;1.010;10;-0,1;0,1\n2;1.040;10;-0,2;0,1\n",
        {},
        ['core.csv, line 2, column "age_bp": found "1.010" beside "-0,1"', "thousands without a separator"],
    ),
    "thousands beside decimal points": (
        'depth,age_bp,age_sd,rsl,rsl_sd\n1,940,10,-0.1,0.1\n2,"1,040",10,-0.2,0.1\n',
        {},
        ['core.csv, line 3, column "age_bp": found "1,040" beside "-0.1"', "thousands without a separator"],
    ),
    "thousands": (
        "depth;age_bp;age_sd;rsl;rsl_sd\n1;1,100;10;1;1\n2;1,200;10;1;1\n",
        {},
        ['core.csv, line 2, column "age_bp": found "1,100", which may be thousands or decimals', "without a separator"],
    ),
    "duplicated depth": (
        bad("2,300,10,-0.3,0.1"),
        {},
        ['core.csv, lines 3 and 4, column "depth": two rows have the same place', '"2"', "average them"],
    ),
    "duplicated depth in one of two cores": (
        "core,depth,age_bp,age_sd,rsl,rsl_sd\nA,1,100,10,1,1\nB,1,100,10,1,1\nB,1.0,200,10,1,1\n",
        {},
        ['core.csv, lines 3 and 4, column "depth": two rows of "B"'],
    ),
    "depth not monotone down the rows": (
        bad("0.5,300,10,-0.3,0.1"),
        {"order": "rows"},
        ['core.csv, line 4, column "depth"', "the depths reverse", "order by depth"],
    ),
    "no depth at all": (
        "depth,age_bp,age_sd,rsl,rsl_sd\n,100,10,1,1\n,200,10,1,1\n",
        {},
        ["core.csv, line 1: nothing says which row is older"],
    ),
    "no depth, but asked for": (
        "depth,age_bp,age_sd,rsl,rsl_sd\nNA,100,10,1,1\nNA,200,10,1,1\n",
        {"order": "depth"},
        ['core.csv, column "depth": no row has a number here', "choose another"],
    ),
    "older where it should be younger": (
        header("depth,age_ce,age_sd,rsl,rsl_sd"),
        {},
        ['core.csv, column "depth": the dates, read as CE', "most likely ages BP (--scale BP"],
    ),
    "no trend to tell the direction": (
        "depth,age,age_sd,rsl,rsl_sd\n1,100,10,1,1\n2,300,10,1,1\n3,300,10,1,1\n4,100,10,1,1\n",
        {},
        ['core.csv, column "depth": the dates do not show which way time runs', "--order-direction"],
    ),
    "exact inputs against the order": (
        GOOD.replace("2,200,10", "2,200,0").replace("3,300,10", "3,150,0"),
        {},
        ['core.csv, lines 3 and 4, column "age_bp": the inputs 200 and 150 are exact', "error above 0"],
    ),
    "unclear flag": (
        "depth,age_bp,age_sd,rsl,rsl_sd,reject\n1,100,10,1,1,\n2,200,10,1,1,perhaps\n",
        {},
        ['core.csv, line 3, column "reject": found "perhaps" as a flag', "write yes or no"],
    ),
    "unclear limiting flag": (
        "depth,age_bp,age_sd,rsl,rsl_sd,limiting\n1,100,10,1,1,\n2,200,10,1,1,7\n",
        {},
        ['core.csv, line 3, column "limiting": found "7" as a flag'],
    ),
    "everything rejected": (
        "depth,age_bp,age_sd,rsl,rsl_sd,reject\n1,100,10,1,1,x\n2,200,10,1,1,x\n",
        {},
        ["core.csv: every row is marked as rejected", "check the flags"],
    ),
    "unknown column for the input": (
        GOOD,
        {"t": "when"},
        ['core.csv, column "when": there is no such column', '"age_bp"', "--t COLUMN"],
    ),
    "unknown column for an error": (
        GOOD,
        {"y_sd": "fuzzy"},
        ['core.csv, column "fuzzy": there is no such column', "--y-sd"],
    ),
    "unknown column for the order": (
        GOOD,
        {"order": "deep"},
        ['core.csv, column "deep": there is no such column', "--order"],
    ),
    "unknown column for the sequence": (
        GOOD,
        {"sequence": "hole"},
        ['core.csv, column "hole": there is no such column', "--sequence"],
    ),
    "one column as input and output": (
        GOOD,
        {"t": "rsl", "y": "rsl"},
        ['core.csv, column "rsl": the column is named as input and as output'],
    ),
    "unknown site": (
        "site,depth,age_bp,age_sd,rsl,rsl_sd\nA,1,100,10,1,1\nB,2,200,10,1,1\n",
        {"site": "C"},
        ['core.csv, column "site": there is no "C", but "A", "B"', "correct --site"],
    ),
    "site without sites": (GOOD, {"site": "C"}, ["core.csv: no column names sites", "--sequence"]),
    "sheet of a text file": (GOOD, {"sheet": "1"}, ["core.csv: there are no sheets", "leave out --sheet"]),
    "negative number for all errors": (
        GOOD,
        {"y_sd": "-1"},
        ["core.csv: --y-sd -1 (y_sd= in Python) is not a standard deviation", "above 0"],
    ),
    "unknown number of sigmas": (GOOD, {"t_sigma": 0}, ["option t_sigma (--t-sigma): found 0; give a number above 0"]),
    "unknown scale": (GOOD, {"scale": "b2k"}, ["option scale (--scale): found 'B2K'; give BP or CE or AD."]),
    "unknown direction": (
        GOOD,
        {"order_direction": "up"},
        ["option order_direction (--order-direction): found 'up'; give increasing or decreasing."],
    ),
    "option that is no text": (GOOD, {"order": 3}, ["option order (--order): found 3; give text"]),
    "unknown option": (GOOD, {"colour": "red"}, ["option colour: unknown option; choose from t, t_sd"]),
}


def test_the_good_table_is_good(table):
    assert len(read(table(GOOD)).record) == 4


@pytest.mark.parametrize(("content", "options", "pieces"), BAD.values(), ids=BAD)
def test_one_message_says_what_and_where_and_what_to_do(table, content, options, pieces):
    with pytest.raises(TableError) as caught:
        read_record(table(content), **options)
    message = str(caught.value)
    assert message.startswith(pieces[0]) or pieces[0].startswith("line"), message
    at = -1
    for piece in pieces:
        at = message.find(piece, at + 1)
        assert at >= 0, f"{piece!r} is not in: {message}"
    assert message.endswith(".")
    assert "\n" not in message
    assert message.count("; ") >= 1
    assert isinstance(caught.value, LaminaError)


#: name: (content, the lines of the message after the first)
SEVERAL = {
    "in several columns": (
        "depth,age_bp,age_sd,rsl,rsl_sd\n1,old,10,-0.1,0.1\n2,200,-10,-0.2,0.1\n3,300,10,low,0\ntop,400,10,-0.4,\n",
        [
            'line 2, column "age_bp": found the text "old"',
            'line 3, column "age_sd": the error is negative ("-10")',
            'line 4, column "rsl": found the text "low"',
            'line 4, column "rsl_sd": the error of the output is 0',
            'line 5, column "rsl_sd": the error is empty',
            'line 5, column "depth": found the text "top"',
        ],
    ),
    "the same in several lines": (
        GOOD.replace(",100,10", ",100,").replace(",300,10", ",300,").replace(",400", ",x"),
        ['lines 2 and 4, column "age_sd": the error is empty', 'line 5, column "age_bp": found the text "x"'],
    ),
    "limits": (
        "depth,age_bp,age_min,age_max,rsl,rsl_sd\n1,100,110,90,1,1\n2,200,190,210,1,1\n3,350,290,310,1,1\n4,x,1,2,1,1\n"
        "5,500,490,510,1,1\n",
        [
            'line 2, column "age_max": the upper limit 90 is below the lower limit 110',
            'line 4, column "age_max": the value 350 is not between its limits 290 and 310',
            'line 5, column "age_bp": found the text "x"',
        ],
    ),
    "years in the future": (
        "depth,year,year_sd,rsl,rsl_sd\n1,1900,10,1,1\n2,3000,10,1,1\n3,3100,10,1,1\n4,1800,10,1,1\n5,1700,10,x,1\n",
        ['lines 3 and 4, column "year": 2 dates lie in the future, such as 3000 CE', 'line 6, column "rsl"'],
    ),
    "flags": (
        "depth,age_bp,age_sd,rsl,rsl_sd,reject\n1,100,10,1,1,perhaps\n2,200,10,1,1,hm\n3,300,10,1,1,no\n",
        ['line 2, column "reject": found "perhaps"', 'line 3, column "reject": found "hm"'],
    ),
    "ragged rows": (
        GOOD + "5,1\n6,600,1,1,1,1\n",
        ["line 6: the row has 2 cells, but the header in line 1 has 5", "line 7: the row has 6 cells"],
    ),
    "places in the order": (
        HEAD + "".join(f"{d},{100 * d},10,1,1\n" for d in (1, 1, 2, 2, 2, 3)),
        [
            'lines 2 and 3, column "depth": two rows have the same place in the order, "1"',
            'lines 4, 5 and 6, column "depth": 3 rows have the same place in the order, "2"',
        ],
    ),
    "more than ten": (
        HEAD + "".join(f"{d},x{d},10,1,1\n" for d in range(25)),
        [*(f'line {d + 2}, column "age_bp": found the text "x{d}"' for d in range(10)), "and 15 more."],
    ),
}


@pytest.mark.parametrize(("content", "expected"), SEVERAL.values(), ids=SEVERAL)
def test_one_message_names_all_cells_that_cannot_be_used(table, content, expected):
    with pytest.raises(TableError) as caught:
        read(table(content))
    first, *lines = str(caught.value).splitlines()
    things = len(lines) - 1 + 15 if "more" in lines[-1] else len(lines)
    unclear = "" if "--equal-depth" in lines[0] else " (--skip-bad-rows leaves bad rows out)"
    assert first == f"core.csv: {things} things to correct{unclear}:"
    assert len(lines) == len(expected)
    for line, start in zip(lines, expected, strict=True):
        assert line.startswith(f"  {start}"), line
        assert "; " in line or "more" in line
    assert lines[-1].endswith(".")


def test_there_are_forty():
    assert len(BAD) >= 40


def test_a_path_that_cannot_be_looked_at(tmp_path):
    with pytest.raises(TableError, match=r"the file cannot be read .*; check that you may read it"):
        read(tmp_path / ("a" * 300 + ".csv"))


def test_missing_file_and_folder(tmp_path):
    with pytest.raises(TableError, match=r"absent.csv: there is no such file; check the name"):
        read(tmp_path / "absent.csv")
    with pytest.raises(TableError, match="this is a folder; give a file"):
        read(tmp_path)


@pytest.mark.skipif(os.name == "nt" or getattr(os, "geteuid", lambda: 1)() == 0, reason="needs file permissions")
def test_file_that_may_not_be_read(table):
    path = table(GOOD)
    path.chmod(0)
    with pytest.raises(TableError, match="the file cannot be read"):
        read(path)


@pytest.mark.parametrize("start", [b"depth,age_bp,age_sd,rsl,rsl_sd\n", b"\x8f\x00\x13", b"noise " * 20_000])
def test_two_hundred_megabytes_are_refused_at_once(tmp_path, start):
    path = tmp_path / "noise.csv"
    with path.open("wb") as file:
        file.write(start + b"1,2,3,4,5\n" * 10_000)
        file.truncate(200_000_000)  # sparse: the size without the disk
    tracemalloc.start()
    try:
        with pytest.raises(TableError, match=r"noise\.csv: "):
            read(path)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 5_000_000  # the beginning of the file is enough


def test_long_and_odd_cells_are_shown_short_and_on_one_line(table):
    cell = '"' + "a\tb" * 100 + '\x1b[31m"'
    with pytest.raises(TableError) as caught:
        read(table(bad(f"3,{cell},10,-0.3,0.1")))
    assert len(str(caught.value)) < 300
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("seed", range(40))
def test_damage_is_refused_or_read_but_never_a_crash(table, seed):
    rng = random.Random(seed)
    for _ in range(10):
        data = bytearray(GOOD.encode())
        for _ in range(rng.randint(1, 8)):
            at = rng.randrange(len(data))
            data[at : at + rng.randint(0, 3)] = rng.choice(
                [b"", b",", b'"', b"\n", b"-", b"#", b"\xe9", b"x", b"1", b";", b"\t"]
            )
        with contextlib.suppress(TableError):
            read(table(bytes(data)))


def test_a_long_header_is_refused(table):
    with pytest.raises(TableError, match=r"line 1: a header has 10,001 characters, more than 1,000"):
        read(table(header("depth," + "lower" * 2000 + "!,age_sd,rsl,rsl_sd")))


#: Parts whose repetition makes regular expressions try exponentially or quadratically many ways.
_REPEATED = [
    "lower",
    "95%",
    "2s",
    "er",
    "(",
    "[",
    "(a",
    "+ ",
    "- ",
    " ",
    "_",
    "9",
    "1,",
    "1.",
    "b. ",
    "un",
    "14 ",
    "before ",
    "jan ",
]


@pytest.mark.parametrize("part", _REPEATED)
def test_hostile_headers_cost_little_more_than_others(part):
    def parse(part):
        for length in 58, 240, 1000:
            for end in "", "!", "x":
                headers.parse(0, part * (length // len(part)) + end)
                headers.any_sigma((part * (length // len(part)) + end)[:250])

    assert cpu(lambda: parse(part)) < 200.0 * cpu(lambda: parse("depth "))


@pytest.mark.parametrize("part", _REPEATED)
def test_hostile_cells_cost_little_more_than_others(table, part):
    def refuse(part):
        cell = (part * (30_000 // len(part) + 1))[:30_000]
        with pytest.raises(TableError, match="line 4"):
            read(table(bad(f'3,"{cell}x",10,-0.3,0.1')))

    assert cpu(lambda: refuse(part)) < 200.0 * cpu(lambda: refuse("peat"))


def test_a_cell_can_be_too_long(table):
    with pytest.raises(TableError, match="line 4: a cell holds 60,000 characters, more than 32,767"):
        read(table(bad(f"3,{'9' * 60_000},10,-0.3,0.1")))
    with pytest.raises(TableError, match="line 4: a cell holds 140,000 characters, more than 32,767"):
        read(table(bad(f"3,{'9' * 140_000},10,-0.3,0.1")))
    with pytest.raises(TableError, match=r"line 4: the line cannot be split into cells of at most 131,072 characters"):
        read(table(bad(f'3,"{"9" * 140_000}",10,-0.3,0.1')))
    with pytest.raises(TableError, match=r"line 4: the line has 1,200,\d\d\d characters, more than 1,000,000"):
        read(table(bad(f"3,{'9' * 1_200_000},10,-0.3,0.1")))


def test_a_long_comment_is_no_row(table):
    record = read(table(HEAD + f"# {'x,' * 100_000}\n" + GOOD.removeprefix(HEAD))).record
    assert len(record) == 4


def lines_run(call) -> int:
    """The number of lines of Python that a call runs: a measure of its work that is the same on every machine."""
    counted, before = [0], sys.gettrace()

    def trace(frame, event, argument):
        counted[0] += event == "line"
        return trace

    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return counted[0]


@pytest.mark.parametrize("column", ["core", "tie", "layer", "type", "hiatus"])
def test_many_rows_take_linear_time(table, column):
    """Four times the rows take about four times the work, whatever lies between them."""
    cells = {"core": "k{0}", "tie": "k{0}", "layer": "k{0}", "type": "marine", "hiatus": "no"}[column]
    options = Options(sequence="core" if column == "core" else None, equal_depth="tie" if column == "layer" else None)

    def work(n):
        rows = [
            f"{cells.format(i // 2)},{i // (2 if column == 'layer' else 1)},{10 * i},5,{i % 7},0.1" for i in range(n)
        ]
        path = table(f"{column},depth,age (cal BP),age_sd,rsl,rsl_sd\n" + "\n".join(rows))
        return lines_run(lambda: read(path, options))

    work(100)
    assert work(1200) < 5.0 * work(300)


@pytest.mark.parametrize("name", ["t_sd", "order", "t_sigma"])
def test_options_can_be_checked_before_any_file(name):
    with pytest.raises(TableError, match=f"option {name}"):
        Options(**{name: ""})
