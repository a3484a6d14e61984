/** What a release is made of: the tag as git has it (`v1.2.3`), and the texts of package.json and CHANGELOG.md. */
export interface Release {
  readonly tag: string;
  readonly manifest: string;
  readonly changelog: string;
}

/**
 * What the changelog says of the tagged version. Throws when the tag, package.json and the changelog do not name one version,
 * or something still stands under "Unreleased".
 */
export function readReleaseNotes({ tag, manifest, changelog }: Release): string {
  const { version } = JSON.parse(manifest);
  if (tag !== `v${version}`) throw new Error(`the tag is ${tag}, and the version in package.json ${version}`);
  const sections = changelog.split(/^## /m).slice(1).map(readSection);
  const unreleased = sections.find(({ title }) => title === 'Unreleased');
  if (unreleased?.text)
    throw new Error('CHANGELOG.md: what stands under "Unreleased" belongs to this release');
  const notes = sections.find(({ title }) => title === version)?.text;
  if (!notes) throw new Error(`CHANGELOG.md says nothing of ${version}: it needs a section "## ${version}"`);
  return notes;
}

function readSection(section: string): { title: string; text: string } {
  const end = section.indexOf('\n');
  return { title: section.slice(0, end).trim(), text: section.slice(end).trim() };
}
