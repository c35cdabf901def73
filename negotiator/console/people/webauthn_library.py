"""What `passkey_ceremonies` uses of webauthn."""

from webauthn import (
    generate_authentication_options,
    generate_registration_options,
    verify_authentication_response,
    verify_registration_response,
)
from webauthn.helpers import base64url_to_bytes, bytes_to_base64url, options_to_json_dict, parse_client_data_json
from webauthn.helpers.structs import (
    AuthenticatorSelectionCriteria,
    PublicKeyCredentialDescriptor,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

__all__ = [
    "AuthenticatorSelectionCriteria",
    "PublicKeyCredentialDescriptor",
    "ResidentKeyRequirement",
    "UserVerificationRequirement",
    "base64url_to_bytes",
    "bytes_to_base64url",
    "generate_authentication_options",
    "generate_registration_options",
    "options_to_json_dict",
    "parse_client_data_json",
    "verify_authentication_response",
    "verify_registration_response",
]
