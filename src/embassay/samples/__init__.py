"""The shapes of samples, one file each; what every corpus must be (``checks``); which samples are independent."""
