/** Chromium opens these two pages with each window, for its address bar: a third of the work of opening a page of ours. */
const PAGES_OF_THE_ADDRESS_BAR = ['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup'] as const;

/** A process of pages kept ready for the next page: in a browser with one page, memory; in tests, a fifteenth of each page's work. */
const SPARE_PROCESS = 'SpareRendererForSitePerProcess';

/** The features that Playwright turns off. They are repeated here because Chromium reads only the last of two lists. */
const OFF_IN_PLAYWRIGHT = [
  'AimEnabled',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'ThirdPartyStoragePartitioning',
] as const;

const OWN_BUSINESS_ONLY = [
  `--disable-features=${[...OFF_IN_PLAYWRIGHT, ...PAGES_OF_THE_ADDRESS_BAR, SPARE_PROCESS].join(',')}`,
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  '--disable-quic',
] as const;

/** No sandbox: CI runs as root in a container, where Chromium's does not start. The pages that tests open are our own. */
export const QUIET_ARGUMENTS = ['--no-sandbox', ...OWN_BUSINESS_ONLY] as const;

/** Arguments of a browser that serves. The caller decides about the sandbox. */
export const SERVING_ARGUMENTS: readonly string[] = [...OWN_BUSINESS_ONLY, '--enable-unsafe-webgpu'];

/** WebGPU also where there is no GPU: Chromium then computes it on the CPU (SwiftShader). */
export const WEBGPU_ARGUMENTS: readonly string[] = [...QUIET_ARGUMENTS, '--enable-unsafe-webgpu'];

/** A browser in which `navigator.gpu.requestAdapter()` finds nothing. */
export const NO_WEBGPU_ARGUMENTS: readonly string[] = [...QUIET_ARGUMENTS, '--disable-gpu'];
