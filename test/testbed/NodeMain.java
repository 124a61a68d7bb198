import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Collections;

import PACKAGE.common.logging.LogConfigurator;
import PACKAGE.common.settings.Settings;
import PACKAGE.env.Environment;
import PACKAGE.node.InternalSettingsPreparer;
import PACKAGE.node.Node;

/**
 * Starts one node from a home and a configuration folder, without the server's own launcher: that one refuses root and
 * wants a security policy for each module. PACKAGE becomes org.opensearch or org.elasticsearch before it is compiled.
 *
 * The node lives as long as its standard input: when the process that started it ends, however it ends, the pipe
 * closes and the node halts. Its data is thrown away, so there is nothing to flush.
 */
public class NodeMain {
    public static void main(String[] args) {
        new Thread(NodeMain::haltWithParent, "testbed-parent").start();
        try {
            Path home = Paths.get(args[0]);
            Path config = Paths.get(args[1]);
            Settings settings = Settings.builder().put("path.home", home.toString()).build();
            Environment env = InternalSettingsPreparer.prepareEnvironment(settings, Collections.emptyMap(), config, () -> "testbed");
            LogConfigurator.registerErrorListener();
            LogConfigurator.setNodeName(Node.NODE_NAME_SETTING.get(env.settings()));
            LogConfigurator.configure(env);
            new Node(env).start();
        } catch (Throwable e) {
            e.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
    }

    private static void haltWithParent() {
        try {
            while (System.in.read() >= 0) {
                // Nothing is ever sent; only the end of the stream means something.
            }
        } catch (IOException e) {
            e.printStackTrace();
        }
        Runtime.getRuntime().halt(0);
    }
}
