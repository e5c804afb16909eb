# The service in a slim image. Everything installed is fixed by hash in the requirements locks.
FROM python:3.13-slim AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /src
RUN python -m venv /opt/plait
# What changes seldom comes first, so that a change of the code installs nothing anew.
COPY requirements.lock requirements-build.lock ./
RUN /opt/plait/bin/pip install --require-hashes -r requirements.lock \
 && pip install --require-hashes -r requirements-build.lock
COPY pyproject.toml README.md ./
COPY cypher ./cypher
COPY service ./service
RUN pip wheel --no-deps --no-build-isolation --wheel-dir /wheels . \
 && /opt/plait/bin/pip install --no-deps /wheels/*.whl

FROM python:3.13-slim
RUN useradd --uid 10001 --create-home plait \
 && install -d -o plait -g plait /data
COPY --from=build /opt/plait /opt/plait
ENV PATH=/opt/plait/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PLAIT_HOST=0.0.0.0 \
    PLAIT_PORT=8000 \
    PLAIT_DATA_DIR=/data
USER plait
WORKDIR /home/plait
# Used only where no PLAIT_NEO4J_URI is given and the service runs a Neo4j of its own.
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/health/ready', timeout=4)"]
# SIGTERM ends the service cleanly; the exec form lets it arrive.
CMD ["plait", "serve"]
