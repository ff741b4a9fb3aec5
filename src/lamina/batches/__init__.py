"""Many records: workers, Dask, the summary and its page."""
