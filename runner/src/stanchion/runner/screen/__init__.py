"""What a terminal shows while attempts run. Nothing here touches an attempt."""
