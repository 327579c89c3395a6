"""Programs that train on the environments: to read, to run and to start from."""
