"""What PyTorch 2.x asks for beyond 1.13: a file for each subject."""
