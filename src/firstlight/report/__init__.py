"""What people read: progress bars on stderr, tables on the terminal."""
