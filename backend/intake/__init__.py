"""Intake: from a path, an upload or a URL to the picture a person sees."""
