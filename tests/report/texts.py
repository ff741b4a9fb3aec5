"""Text that must be shown letter by letter."""

EVIL = "<script>alert(1)</script>"
