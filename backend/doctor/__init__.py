"""`doctor`: what of this machine would keep the settings from working, and what to do about it."""
