"""What servers and clients of the benchmarks agree on."""

from typing import Final

BASE: Final = "https://nego.example"
ISSUER: Final = "https://idp.example"
SUBJECT: Final = "alice"
CLIENT: Final = "c1"
SECRET: Final = "s3cretsecretsecretsecret"
SCOPES: Final = ("negotiations:read", "negotiations:write", "memories:read", "ai:tactics")
GRANT: Final = "grant_type=client_credentials&scope=negotiations:read"
