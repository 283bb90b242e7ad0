import { build, type BuildOptions } from 'esbuild';

/** A classic script of modules and all that they import, for a page that has no bundler. */
export async function bundleForPage(options: BuildOptions): Promise<string> {
  const { outputFiles } = await build({
    bundle: true,
    format: 'iife',
    target: 'es2022',
    define: { 'process.env.NODE_ENV': '"production"' },
    ...options,
    write: false,
  });
  return outputFiles[0]?.text ?? '';
}
