"""`bench`: Bifocal's split against one fused engine and against the bare engines, in one run."""
