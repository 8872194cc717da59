"""An example of a package that adds plug-ins to Embassay: a diagnostic, a corpus loader and an encoder."""
