import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { Builder, type WebDriver } from 'selenium-webdriver';
import { DriverService } from 'selenium-webdriver/remote/index.js';

import { createMutex } from '../../src/platform/mutex.ts';
import { findProgram } from '../support/find-program.ts';
import type { DrivenBrowser, DrivenPage } from './driven-tab.ts';

const SCRIPT_TIMEOUT_MS = 60_000;

/** MiniBrowser, the library's own: the paths of Debian, then of Fedora and Arch. */
const BROWSERS = ['/usr/lib/*/webkit2gtk-4.*/MiniBrowser', '/usr/{lib,libexec}/webkit2gtk-4.*/MiniBrowser'];

/** Over WebDriver, through WebKitWebDriver, on an X server without a screen. */
export async function launchWebKitGtk(): Promise<DrivenBrowser> {
  const driverPath = await findProgram('WebKitWebDriver', 'webkit2gtk-driver');
  const displayPath = await findProgram('Xvfb', 'xvfb');
  const browserPath = globSync(BROWSERS).toSorted().at(-1);
  if (browserPath === undefined) throw new Error('WebKitWebDriver is there, but no MiniBrowser.');
  // This browser has no headless mode.
  const server = await startDisplay(displayPath);
  const service = new DriverService.Builder(driverPath)
    .setLoopback(true)
    .setEnvironment({ ...process.env, DISPLAY: server.display })
    .build();
  const close = async (): Promise<void> => {
    await service.kill();
    server.process.kill();
  };
  try {
    const driver = await startBrowser(await service.start(), browserPath);
    const version = `WebKitGTK ${(await driver.getCapabilities()).getBrowserVersion()}`;
    console.log(`Browser: ${version} (${browserPath})`);
    return {
      version,
      open: createTabs(driver, await driver.getWindowHandle()),
      async close() {
        try {
          await driver.quit();
        } finally {
          await close();
        }
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function startBrowser(driverUrl: string, binary: string): Promise<WebDriver> {
  const driver = await new Builder()
    .usingServer(driverUrl)
    .withCapabilities({
      browserName: 'MiniBrowser',
      'webkitgtk:browserOptions': { binary, args: ['--automation'] },
    })
    .build();
  await driver.manage().setTimeouts({ script: SCRIPT_TIMEOUT_MS });
  return driver;
}

/** WebDriver has one current window, so calls to different windows run one after the other. */
function createTabs(driver: WebDriver, firstWindow: string): (url: string) => Promise<DrivenPage> {
  const calls = createMutex();
  return (url) =>
    calls.run(async () => {
      // The one that a test has used last may be closed.
      await driver.switchTo().window(firstWindow);
      await driver.switchTo().newWindow('tab');
      const handle = await driver.getWindowHandle();
      await driver.get(url);
      const inTab = <Result>(act: () => Promise<Result>): Promise<Result> =>
        calls.run(async () => {
          await driver.switchTo().window(handle);
          return act();
        });
      return {
        evaluate: (expression) => inTab(() => driver.executeScript(`return ${expression}`)),
        close: () => inTab(() => driver.close()),
      };
    });
}

/** The server chooses a free number and writes it to its third file once it answers. */
async function startDisplay(path: string): Promise<{ process: ChildProcess; display: string }> {
  const args = ['-displayfd', '3', '-screen', '0', '1280x1024x24', '-nolisten', 'tcp'];
  const server = spawn(path, args, { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] });
  const ready = server.stdio[3];
  if (!ready) throw new Error(`${path} could not be started.`);
  const [number] = await once(ready, 'data');
  return { process: server, display: `:${String(number).trim()}` };
}
