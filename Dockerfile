# bough serve, for compose.yaml or any other place that runs containers. It keeps nothing in the container: the store is
# $BOUGH_DB, and the tokens are in it.
FROM python:3.13-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY src src
COPY share share
RUN pip install --no-cache-dir build && python -m build --wheel --outdir /wheels

FROM python:3.13-slim
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir "bough[server,postgres,mcp] @ file://$(echo /wheels/bough-*.whl)" \
    && rm -r /wheels && useradd --create-home bough
USER bough
EXPOSE 8011
HEALTHCHECK CMD python -c "import urllib.request as r; r.urlopen('http://127.0.0.1:8011/healthz')"
CMD ["bough", "serve", "--host", "0.0.0.0", "--behind-proxy"]
