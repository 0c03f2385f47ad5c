import { chmod, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { RealCluster } from './cluster.ts'

/** As the pages for those who run it call it. */
const STORAGE_CLASS = 'standard'

/** Puts volumes of these sizes (GiB) onto the node, for claims of the cluster's default class. Nothing makes further ones. */
export async function makeVolumes({ apply, folder }: RealCluster, sizes: readonly number[]): Promise<void> {
  const objects: object[] = [
    {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: STORAGE_CLASS, annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
      provisioner: 'kubernetes.io/no-provisioner',
      reclaimPolicy: 'Retain',
      volumeBindingMode: 'WaitForFirstConsumer',
    },
  ]
  for (const [index, size] of sizes.entries()) {
    const path = join(folder, `volumes/${index}`)
    await mkdir(path, { recursive: true })
    // A folder of the node is not given to the group of a pod, as volumes of a driver are.
    await chmod(path, 0o777)
    objects.push({
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: `volume-${index}` },
      spec: {
        capacity: { storage: `${size}Gi` },
        accessModes: ['ReadWriteOnce', 'ReadWriteMany'],
        persistentVolumeReclaimPolicy: 'Retain',
        storageClassName: STORAGE_CLASS,
        hostPath: { path },
      },
    })
  }
  await apply(objects)
}
