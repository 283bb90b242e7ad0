import { useServeView } from '../../state/serve-context.ts';
import './deployment-view.css';

export function UnknownDeployment({ name }: { readonly name: string }) {
  const hasAnswered = useServeView(
    ({ status }) => status.deployments.length > 0 || status.state !== 'loading',
  );
  if (!hasAnswered)
    return <p className="unknown-deployment stack tight">Looking for the deployment “{name}”…</p>;
  return (
    <div className="unknown-deployment stack tight" role="alert">
      <p className="error-line">
        The address asks for the deployment “{name}”, which doesn’t exist. <code>UNKNOWN_DEPLOYMENT</code>
      </p>
      <p>
        Choose another one. To serve your own, write it in <code>src/deployments/{name}.ts</code>, and add it
        to the list in <code>registry.ts</code>.
      </p>
    </div>
  );
}
