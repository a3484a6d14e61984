import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/** Debian's path; `CHROMIUM` overrides it. */
const executable = process.env.CHROMIUM ?? '/usr/bin/chromium';

/** The reason why no browser is available, or undefined. */
export const noBrowser: string | undefined = existsSync(executable)
  ? undefined
  : `${executable} does not exist: install Chromium, or name it in CHROMIUM`;

export function launchBrowser(): Promise<Browser> {
  if (noBrowser !== undefined) throw new Error(noBrowser);
  return chromium.launch({ executablePath: executable, args: ['--disable-gpu'] });
}
