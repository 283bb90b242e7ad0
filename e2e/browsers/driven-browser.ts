/** A browser that a test drives over its own protocol. */
export interface DrivenBrowser {
  /** As the browser says it. */
  readonly version: string;
  /** In a tab of its own. */
  open(url: string): Promise<DrivenPage>;
  close(): Promise<void>;
}

export interface DrivenPage {
  /** The value of an expression, once its promise is settled, as JSON carries it. */
  evaluate(expression: string): Promise<unknown>;
  close(): Promise<void>;
}

export type DrivenBrowserName = 'firefox' | 'webkitgtk';

export async function launchBrowser(name: DrivenBrowserName): Promise<DrivenBrowser> {
  switch (name) {
    case 'firefox':
      return (await import('./firefox.ts')).launchFirefox();
    case 'webkitgtk':
      return (await import('./webkitgtk.ts')).launchWebKitGtk();
    default:
      return name satisfies never;
  }
}
