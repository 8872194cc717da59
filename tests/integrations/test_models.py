"""The bridge to mteb without mteb."""
