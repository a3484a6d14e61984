import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/** Debian's place for it; `CHROMIUM` names another. */
const executable = process.env.CHROMIUM ?? '/usr/bin/chromium';

/** Why there is no browser to test in; undefined where there is one. */
export const noBrowser: string | undefined = existsSync(executable)
  ? undefined
  : `${executable} does not exist: install Chromium, or name it in CHROMIUM`;

/** Starts the browser without a window. Throws when there is none. */
export function launchBrowser(): Promise<Browser> {
  if (noBrowser !== undefined) throw new Error(noBrowser);
  return chromium.launch({ executablePath: executable, args: ['--disable-gpu'] });
}
