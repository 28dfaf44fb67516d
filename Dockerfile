# mockdriver as a container: small, not root, its sockets in a mounted folder.
#
#   docker build --tag mockdriver .
#   docker run --rm --volume /run/mockdriver:/run/mockdriver mockdriver
#
# The folder has to belong to user 65532, or be writable for it.

FROM python:3.13-slim AS build
WORKDIR /src
COPY requirements requirements
RUN python -m venv /opt/build
RUN /opt/build/bin/python -m pip install --no-cache-dir --require-hashes --requirement requirements/run.lock
RUN python -m venv /opt/mockdriver
RUN /opt/mockdriver/bin/python -m pip install --no-cache-dir --require-hashes --requirement requirements/core.lock
COPY . .
RUN /opt/build/bin/python -m hatchling build --target wheel --directory /opt/wheel
RUN /opt/mockdriver/bin/python -m pip install --no-cache-dir --no-index --no-deps --find-links /opt/wheel mockdriver

FROM python:3.13-slim
COPY --from=build /opt/mockdriver /opt/mockdriver
USER 65532:65532
ENV PATH=/opt/mockdriver/bin:$PATH
ENV PYTHONUNBUFFERED=1
ENV CSI_ENDPOINT=unix:///run/mockdriver/csi.sock
VOLUME /run/mockdriver
STOPSIGNAL SIGTERM
ENTRYPOINT ["mockdriver"]
CMD ["serve"]
