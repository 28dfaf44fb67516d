"""The live page. Needs the extra `dashboard`."""
