import { spawnSync } from 'node:child_process';

/** Output of `npm audit --json`: the counts, or why there are none. */
interface AuditReport {
  readonly metadata?: { readonly vulnerabilities: Readonly<Record<string, number>> };
  readonly message?: string;
}

// Fails on known vulnerabilities of level high and above in the installed packages. A registry without a list of them, as mirrors often
// are, doesn't fail the check, which then says so.

const { stdout, status } = spawnSync('npm', ['audit', '--audit-level=high', '--json'], {
  encoding: 'utf8',
  shell: process.platform === 'win32',
});
const { metadata, message } = readReport(stdout);

if (!metadata) {
  console.warn(`Audit: NOT DONE, the registry gives no list of vulnerabilities (${message ?? 'no answer'}).`);
} else if (status === 0) {
  console.log(`Audit: nothing of level high or critical; ${describe(metadata.vulnerabilities)}.`);
} else {
  console.error(`Audit: ${describe(metadata.vulnerabilities)}. Run \`npm audit\` for what to do.`);
  process.exitCode = 1;
}

function readReport(json: string): AuditReport {
  try {
    return JSON.parse(json);
  } catch {
    return {};
  }
}

function describe(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([level, count]) => `${count} ${level}`)
    .join(', ');
}
