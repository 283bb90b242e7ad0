import { useServeView } from '../state/serve-context.ts';
import './deployment-view.css';

/** For an address that names an unknown deployment. */
export function UnknownDeployment({ name }: { readonly name: string }) {
  const hasAnswered = useServeView(
    ({ status }) => status.deployments.length > 0 || status.state !== 'loading',
  );
  if (!hasAnswered) return <p className="unknown-deployment">Asking the worker for “{name}” …</p>;
  return (
    <div className="unknown-deployment" role="alert">
      <p className="error-line">
        <code>UNKNOWN_DEPLOYMENT</code> There is no deployment “{name}”, which the address asks for.
      </p>
      <p>
        Choose one above. To serve your own, add a file <code>{name}.deployment.ts</code> to{' '}
        <code>src/worker/deployments</code> and reload.
      </p>
    </div>
  );
}
