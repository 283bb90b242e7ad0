import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

import { runCommand } from '../../../bridge/browser/commands.ts';

/** Mesa 25 of bookworm-backports, whose lavapipe is Vulkan on the CPU with `shader-f16`, and the loader that finds it. */
const PACKAGES = {
  'm/mesa/mesa-vulkan-drivers_25.0.7-2~bpo12+1_amd64.deb':
    '3899f1800424c60a05df5d6913076a526ca8fdbabec43672cd397563d1ca3263',
  'libd/libdrm/libdrm2_2.4.123-1~bpo12+1_amd64.deb':
    '9cc2f341964286295124a32d3625edb76730500625e54a1e682761f883064d7b',
  'libd/libdrm/libdrm-amdgpu1_2.4.123-1~bpo12+1_amd64.deb':
    '334e2ae389af0e9cb607c2ccfbbf7ae9feb34131ff998550baeffeeae6cda296',
  'v/vulkan-loader/libvulkan1_1.3.239.0-1_amd64.deb':
    '622f28b807ba55a1f5ad1622ff83aa2c5b11fedbec074850e04c10a8f28b43d3',
} as const;

/** The second one keeps what the first no longer has. */
const MIRRORS = ['https://deb.debian.org/debian', 'https://archive.debian.org/debian'];

const CACHE = fileURLToPath(new URL('../../../node_modules/.cache/mesa-25.0.7', import.meta.url));
const LIBRARIES = `${CACHE}/usr/lib/x86_64-linux-gnu`;
const DRIVER = `${CACHE}/usr/share/vulkan/icd.d/lvp_icd.json`;

const TIMEOUT_MS = 300_000;

/**
 * The environment in which Vulkan is lavapipe, whatever is installed. Fetches it once, below `node_modules/.cache`.
 *
 * @throws Error
 */
export async function lavapipeEnvironment(): Promise<Readonly<Record<string, string>>> {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Error(`Lavapipe is fetched for Linux on x64, not for ${process.platform} on ${process.arch}.`);
  if (!existsSync(DRIVER)) await fetchDriver();
  const env = { LD_LIBRARY_PATH: LIBRARIES };
  const { output } = await runCommand('ldd', [`${LIBRARIES}/libvulkan_lvp.so`], {
    timeoutMs: TIMEOUT_MS,
    isQuiet: true,
    env,
  });
  const missing = [...output.matchAll(/(\S+) => not found/g)].map(([, name]) => name);
  if (missing.length === 0) return { ...env, VK_DRIVER_FILES: DRIVER };
  throw new Error(
    `Lavapipe needs ${missing.join(', ')}: on Debian bookworm, apt-get install mesa-vulkan-drivers brings them.`,
  );
}

async function fetchDriver(): Promise<void> {
  console.log(`Fetching Mesa's lavapipe into ${CACHE}.`);
  const folder = `${CACHE}.part`;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const file = `${folder}/package.deb`;
  for (const [path, sha256] of Object.entries(PACKAGES)) {
    const downloads = MIRRORS.map((mirror) => `curl -fsSL -o '${file}' '${mirror}/pool/main/${path}'`);
    const steps = [
      `(${downloads.join(' || ')})`,
      `echo '${sha256}  ${file}' | sha256sum --check --quiet`,
      `dpkg-deb --extract '${file}' '${folder}'`,
    ];
    const { isSuccess } = await runCommand('sh', ['-c', steps.join(' && ')], { timeoutMs: TIMEOUT_MS });
    if (!isSuccess) throw new Error(`Couldn't fetch ${path}: install curl and dpkg, and check the network.`);
  }
  await rm(file);
  await rm(CACHE, { recursive: true, force: true });
  await rename(folder, CACHE);
}
