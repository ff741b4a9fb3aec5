"""Processes that read tables and answer questions to posteriors, so that the server does neither."""
