/** The browsers that the global set-up found, and the servers that it started. */
export interface TestEnvironment {
  readonly browserPath: string;
  /** In which Playwright opens pages: without windows, where such a browser is installed. */
  readonly pagesBrowserPath: string;
  readonly pageUrl: string;
  /** The built page, whose workers cause the faults that a test plans. */
  readonly faultsUrl: string;
  /** The page that reaches below the client, for the tests alone. */
  readonly probeUrl: string;
  readonly reportUrl: string;
}

const VARIABLE = 'TABSERVE_E2E';

/** Playwright hands nothing but environment variables from the set-up to its worker processes. */
export function writeEnvironment(environment: TestEnvironment): void {
  process.env[VARIABLE] = JSON.stringify(environment);
}

export function readEnvironment(): TestEnvironment | undefined {
  const json = process.env[VARIABLE];
  return json ? JSON.parse(json) : undefined;
}

export function requireEnvironment(): TestEnvironment {
  const environment = readEnvironment();
  if (!environment)
    throw new Error('The global set-up has not run: start the tests with `npm run test:e2e`.');
  return environment;
}
