"""Tables and figures of the paper on associations."""
