import type { Launcher } from './launch.ts';
import { createNativeLauncher } from './native.ts';

export type LauncherName = 'auto' | 'native' | 'portable';

/** The launcher of that name; `auto` is the native one where it works, else the portable one. */
export async function openLauncher(name: LauncherName): Promise<Launcher> {
  if (name === 'portable') return await openPortableLauncher();
  const native = createNativeLauncher();
  if (native === undefined && name === 'native') {
    throw new Error('the native launcher needs Linux with glibc and the package koffi');
  }
  return native ?? (await openPortableLauncher());
}

/** Loaded only where it is used: its library is the largest of all to load. */
async function openPortableLauncher(): Promise<Launcher> {
  const { createPortableLauncher } = await import('./portable.ts');
  return createPortableLauncher();
}
