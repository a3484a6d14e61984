/** The members of package.json that say where the repository is. */
export interface Addresses {
  readonly homepage: string;
  readonly bugs: string;
  readonly repository: { readonly type: 'git'; readonly url: string };
}

/** Where the repository is, by its name on GitHub: `OWNER/NAME`. Throws when it is none. */
export function addressesOf(name: string): Addresses {
  if (!/^[\w-]+\/[\w.-]+$/.test(name)) throw new Error(`"${name}" is not OWNER/NAME`);
  const page = `https://github.com/${name}`;
  return {
    homepage: `${page}#readme`,
    bugs: `${page}/issues`,
    repository: { type: 'git', url: `git+${page}.git` },
  };
}

/** `OWNER/NAME` of the one address from which all others follow. Throws when it is none on GitHub. */
export function nameOf({ repository }: Addresses): string {
  const [, name] = /^git\+https:\/\/github\.com\/([\w-]+\/[\w.-]+)\.git$/.exec(repository.url) ?? [];
  if (name === undefined) throw new Error(`repository.url is ${repository.url}`);
  return name;
}

/** CODEOWNERS with the teams of another owner. */
export function withOwner(codeOwners: string, owner: string): string {
  return codeOwners.replaceAll(/@[\w-]+(?=\/)/g, `@${owner}`);
}
