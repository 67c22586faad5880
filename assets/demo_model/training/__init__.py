"""The program that makes Bifocal's demo model, and its evaluation."""
