class ExportFailure(Exception):
    """A problem that prevents the export, with a message for the user."""
