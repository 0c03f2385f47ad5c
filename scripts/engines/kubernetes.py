"""The Engine resource that registers these files in a cluster."""


def render_resource(manifest, files):
    """YAML of an Engine whose files are in a volume claim named `models`, in a folder with the engine's name."""
    name = manifest["name"]
    licenses = [manifest["license"], *(model["license"] for model in manifest.get("auxiliary", []))]
    spdx = " AND ".join(dict.fromkeys(license["spdx"] for license in licenses))
    commercial = all(license["commercial"] for license in licenses)
    garment_types = ", ".join(manifest["accepts"]["garmentTypes"])
    listed = "\n".join(f'    - {{ path: {f["path"]}, sha256: "{f["sha256"]}", bytes: {f["bytes"]} }}' for f in files)
    return f"""\
apiVersion: drape.dev/v1alpha1
kind: Engine
metadata:
  name: {name}
spec:
  license: {{ name: {spdx}, commercialUse: {str(commercial).lower()} }}
  files:
{listed}
  source:
    persistentVolumeClaim: {{ claimName: models, subPath: {name} }}
  runtime: {{ minMemoryMiB: {manifest["minMemoryMiB"]} }}
  garmentTypes: [{garment_types}]
"""
