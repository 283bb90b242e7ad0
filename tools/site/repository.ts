/** The address of the repository that a workflow of GitHub runs in; undefined elsewhere, where it isn't known. */
export function repositoryOf({
  GITHUB_SERVER_URL,
  GITHUB_REPOSITORY,
}: NodeJS.ProcessEnv): string | undefined {
  return GITHUB_SERVER_URL && GITHUB_REPOSITORY ? `${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}` : undefined;
}
