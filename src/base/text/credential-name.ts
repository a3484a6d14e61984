/** Whether a member of that name holds a credential, such as `Authorization`, `api_key` or `accessToken`. */
export function isCredentialName(name: string): boolean {
  return credentialName.test(name);
}

const credentialName =
  /^(?:proxy[-_]?)?authorization$|^(?:set[-_]?)?cookie$|(?:api|access|private|secret)[-_]?key$|token$|secret$|passw(?:or)?d$|passphrase$|credentials?$/i;
