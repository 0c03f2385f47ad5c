class ExportFailure(Exception):
    """What keeps an engine from being exported, said to the person who asked for it."""
