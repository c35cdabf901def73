"""The OpenAPI document under independent tools: two linters, two client generators."""
