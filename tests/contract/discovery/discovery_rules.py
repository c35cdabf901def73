"""The rules of discovery (contract §1.4), by id."""

from typing import Final

DISCOVERY: Final = {
    "contract:1.4:resource": "RFC 9728 metadata",
    "contract:1.4:server": "RFC 8414 metadata that Authlib validates",
    "contract:1.4:openid": "the OpenID document agrees with the server metadata",
    "contract:1.4:catalog": "RFC 9727: linkset+json, HEAD with Link",
    "contract:1.4:pages": "/auth.md, /llms.txt and /robots.txt",
    "contract:1.4:auth-md-runs": "the commands of /auth.md work as they stand",
    "contract:1.4:inserted": "resource metadata at the path-inserted addresses",
    "contract:1.4:exists": "every advertised endpoint exists",
    "contract:1.4:transport": "documents answer GET and HEAD, ETag and 304, with CORS",
    "contract:1.4:agent-auth": "the agent_auth block names the doors",
    "contract:1.4:home": "/ is HTML or markdown by Accept, with links to what programs read",
    "contract:1.4:robots": "robots.txt: named groups, signals, sitemap and agentmap",
    "contract:1.4:sitemap": "every address of the sitemap answers 200",
    "contract:1.4:skills": "skills are served as the digests of their index say",
    "contract:1.4:resources": "ai-catalog.json and ard.json are one list that loads",
    "contract:1.4:llms": "llms.txt has working links; llms-full.txt has everything",
    "contract:1.4:tool-pages": "/tools and /tools/{slug}, for people and as markdown",
    "contract:1.4:data": "/about/data names every source with its licence",
    "contract:1.4:webmcp": "the home page registers its tools in a browser that has WebMCP, once",
    "contract:1.4:manual": "/docs shows every operation without loading anything from elsewhere",
}
