import { bridgeOfPage } from '../../client/index.ts';

/** Where `npm start` serves. */
const USUAL_ADDRESS = 'http://localhost:8000';

/** Where other programs reach the page, without a slash at its end. A page that has no bridge names the usual one. */
export function addressOfServer(): { readonly address: string; readonly hasBridge: boolean } {
  const hasBridge = bridgeOfPage() !== undefined;
  return { address: hasBridge ? new URL('.', location.href).href.slice(0, -1) : USUAL_ADDRESS, hasBridge };
}
