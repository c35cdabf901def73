"""What a deployment needs: the files of a release (`package`), and those of systemd, nginx, Caddy and containers."""
