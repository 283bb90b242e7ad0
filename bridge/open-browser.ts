import { spawn } from 'node:child_process';

export interface Machine {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
}

interface Opener {
  readonly command: string;
  readonly args: readonly string[];
}

/** The command that shows `url` to the user; `undefined` where nobody sits in front of a screen. */
export function findOpener(url: string, { platform, env }: Machine): Opener | undefined {
  if (env['CI']) return undefined;
  if (platform === 'darwin') return { command: 'open', args: [url] };
  // `start` takes its first quoted argument for a window title.
  if (platform === 'win32') return { command: 'cmd', args: ['/c', 'start', '""', url] };
  const hasScreen = Boolean(env['DISPLAY'] ?? env['WAYLAND_DISPLAY']);
  return hasScreen ? { command: 'xdg-open', args: [url] } : undefined;
}

/** Best effort: the address has been printed, so a missing or failing opener is no error. */
export function openBrowser(url: string, machine: Machine = process): void {
  const opener = findOpener(url, machine);
  if (!opener) return;
  const child = spawn(opener.command, opener.args, { detached: true, stdio: 'ignore' });
  child.on('error', () => undefined);
  child.unref();
}
