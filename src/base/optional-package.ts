import { type ErrorCode, RuntimeError } from './errors.ts';

/**
 * Awaits the import of a package that users install themselves. `need`: what needs it, such as "a Postgres store needs".
 * Throws an error with the code if the package cannot be loaded.
 */
export async function loadPackage<Module>(
  imported: Promise<Module>,
  { name, need, code }: { readonly name: string; readonly need: string; readonly code: ErrorCode },
): Promise<Module> {
  try {
    return await imported;
  } catch (cause) {
    throw new RuntimeError(code, `the package "${name}", which ${need}, cannot be loaded`, {
      hint: `Install it: npm install ${name}.`,
      cause,
    });
  }
}
