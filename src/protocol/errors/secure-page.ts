/** Why a part of the browser is missing on a page that came over plain http from another machine, and what helps. */
export const OF_SECURE_PAGES = 'browsers offer it to pages over https and of localhost alone';
export const OPEN_SECURELY =
  'Open this page over https, or at http://localhost, from another machine through `ssh -L`';
