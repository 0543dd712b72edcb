#!/usr/bin/env bash
# Builds the site into site/, offline; a broken link is an error. Open site/index.html in a browser.
#   bash launch/docs.sh             arguments go to `mkdocs build`
#   REPO_URL=https://… SITE_URL=https://… bash launch/docs.sh     with links to the repository
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh" docs
# MkDocs is finished software; the notice that its theme moves on is left out.
export NO_MKDOCS_2_WARNING=1
python -m mkdocs build --strict --clean "$@"
echo "site/index.html"
