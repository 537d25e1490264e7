# Three stages: the dependencies, the files that they need of the system, and an image of nothing else: Python, its
# libraries, the service. It has no shell and no package manager; `docker compose exec service python` looks around.
FROM python:3.12-slim-bookworm AS build
WORKDIR /srv
COPY locks/image.txt locks/image.txt
RUN python -m venv /opt/venv && /opt/venv/bin/pip install --no-cache-dir --disable-pip-version-check \
        --require-hashes -r locks/image.txt
COPY pyproject.toml README.md LICENSE crosspath.py ./
COPY app/__init__.py app/__init__.py
RUN /opt/venv/bin/pip install --no-cache-dir --disable-pip-version-check --no-deps --no-build-isolation -e . \
    && /opt/venv/bin/pip uninstall --yes --quiet --disable-pip-version-check setuptools pip \
    && find /opt/venv/lib/python3.12/site-packages/numpy -type d -name tests -exec rm -rf {} + \
    && cd /usr/local/lib/python3.12 \
    && rm -rf site-packages test idlelib lib2to3 ensurepip tkinter turtledemo pydoc_data config-3.12-* \
    && rm -rf /usr/local/include /usr/local/share

# What the loader finds for every binary, the loader itself, its cache; certificates and users.
FROM build AS system
RUN useradd --system --uid 10001 --home-dir /data crosspath \
    && mkdir -p /image/etc /image/tmp && chmod 1777 /image/tmp && install -d -o crosspath -g crosspath /image/data \
    && find /usr/local /opt/venv -type f \( -name '*.so*' -o -name 'python3.*' \) -exec ldd {} + 2>/dev/null \
        | awk '$3 ~ /^\// {print $3} $1 ~ /^\/.*[^:]$/ {print $1}' | grep -v -e ^/usr/local -e ^/opt | sort -u \
        | xargs cp --parents --dereference --target-directory=/image \
    && cp --parents /etc/ssl/certs/ca-certificates.crt /etc/ld.so.cache /etc/passwd /etc/group /etc/nsswitch.conf /image

FROM scratch
COPY --from=system /image /
COPY --from=build /usr/local /usr/local
COPY --from=build /opt/venv /opt/venv
COPY --from=build /srv /srv
ENV PATH=/opt/venv/bin:/usr/local/bin LANG=C.UTF-8 PYTHONPATH=/srv PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 \
    SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt CROSSPATH_DATA_DIR=/data
WORKDIR /srv
COPY domains domains
COPY anchor anchor
COPY aggregators aggregators
COPY agents agents
COPY evaluation evaluation
COPY simulator simulator
COPY app app
RUN ["python", "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash", "."]
USER crosspath
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=5s --timeout=3s --start-period=20s --retries=6 \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/health/ready', timeout=2)"]
CMD ["crosspath", "serve", "--host", "0.0.0.0", "--port", "8000"]
