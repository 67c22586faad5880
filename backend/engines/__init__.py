"""The only modules of Bifocal that import vLLM."""
