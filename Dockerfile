FROM python:3.12-slim-bookworm AS build
WORKDIR /srv
COPY locks/image.txt locks/image.txt
RUN python -m venv /opt/venv && /opt/venv/bin/pip install --no-cache-dir --disable-pip-version-check \
        --require-hashes -r locks/image.txt
COPY pyproject.toml README.md LICENSE crosspath.py ./
COPY app/__init__.py app/__init__.py
RUN /opt/venv/bin/pip install --no-cache-dir --disable-pip-version-check --no-deps --no-build-isolation -e . \
    && /opt/venv/bin/pip uninstall --yes --quiet --disable-pip-version-check pip

FROM python:3.12-slim-bookworm
RUN useradd --system --uid 10001 --home-dir /data crosspath && install -d -o crosspath -g crosspath /data
ENV PATH=/opt/venv/bin:$PATH PYTHONPATH=/srv PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 \
    CROSSPATH_DATA_DIR=/data
WORKDIR /srv
COPY --from=build /opt/venv /opt/venv
COPY --from=build /srv /srv
COPY domains domains
COPY anchor anchor
COPY aggregators aggregators
COPY agents agents
COPY evaluation evaluation
COPY simulator simulator
COPY app app
USER crosspath
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=5s --timeout=3s --start-period=20s --retries=6 \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/health/ready', timeout=2)"]
CMD ["crosspath", "serve", "--host", "0.0.0.0", "--port", "8000"]
