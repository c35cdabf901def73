"""The catalogue's own content, as data: tools the directory starts with, the taxonomy, sources and synonyms.

The neighbours read it and turn it into records; this package holds no code. Every summary and description here is the
project's own sentence, written from common knowledge of the product; facts that came from a public snapshot say so.

`<category-slug>.toml`, one file for each of the 19 categories; the file's name is the category of every tool in it:

    [[tool]]                                 # order: most used first
    slug = "chroma-mcp"                      # required, [a-z0-9-]{1,64}, unique over all files
    name = "Chroma MCP Server"               # required, 1-100
    kind = "mcp_server"                      # required: app api mcp_server agent skill library model dataset
    summary = "..."                          # required, at most 200 characters
    description = "..."                      # optional, one to three sentences
    subcategories = ["database-mcp"]         # required, 1-3 slugs of the category's closed list in taxonomy.toml
    tags = ["vector store", "embeddings"]    # required, 1-12, lower case, at most 32 characters, words people type
    homepage_url = "https://..."             # required, https
    docs_url = "https://..."                 # optional
    repository = { url = "https://...", source = "github", subfolder = "src/x" }    # optional; subfolder optional
    interfaces = [{ type = "streamable-http", url = "https://..." }]  # optional; types of the record; url optional
    packages = [{ registry = "pypi", identifier = "chroma-mcp" }]     # optional; npm pypi oci nuget mcpb cargo
    auth = { type = "api_key" }              # optional: none api_key oauth2 other
    pricing = { model = "open_source" }      # optional: free freemium paid open_source usage
    licence = "Apache-2.0"                   # optional SPDX identifier of the software (or data)
    open_source = true                       # optional
    publisher = { name = "Chroma", domain = "trychroma.com" }         # required; domain optional, never "verified"
    evidence = [{ source = "docker-mcp-registry", path = "servers/chroma/server.yaml", fields = ["repository"] }]

A key that is absent is unknown: null on the wire, never false. `fields` names top-level keys. `auth`, `interfaces` and
`packages` name the fact although a snapshot may hold only some of the list's members.

Evidence, expanded: each row of `evidence` gives one `{field, source, url, checked_at, licence}` for each of its fields,
where `sources.toml[source]` gives `source` (its `name`), `licence` and `checked_at`, and the url is
`{url}/blob/{revision}/{path}`. Every other fact key that is present (name, kind, homepage_url, docs_url, repository,
interfaces, packages, auth, pricing, licence, open_source, publisher) has the default row: source "publisher", url the
tool's homepage_url, licence null, checked_at null, method "editor's knowledge" (nobody visited the page). So every tool
has evidence for each fact it states. `summary`, `description`, `subcategories` and `tags` are the project's own words
and carry none.

`taxonomy.toml`: `[[category]]` in the order of every list: slug, name, description, `subcategories = [{slug, name}]`,
and optionally `crosswalk = {docker = [...], toolsdk = [...]}`: the same drawer in another directory, where certain.

`sources.toml`: `[<source>]`: name, method and, for snapshots, url, revision, as_of, checked_at, licence.

`synonyms.toml`: `[<theme>] groups = [[term, term, ...], ...]`: terms of a group mean the same in this field, lower
case, one or more words. `[widen] <term> = [term, ...]`: who asks for the key may also want the values, not the reverse.
"""
