package config

import "slices"

// What is built in is the same in the plugin's versions 2.19.4 and 3.4.0.

func group(kind string, actions ...string) ActionGroup {
	return ActionGroup{Reserved: true, Static: true, Type: kind, AllowedActions: actions}
}

// builtInActionGroups returns the groups that need no file.
func builtInActionGroups() map[string]ActionGroup {
	return map[string]ActionGroup{
		"kibana_all_write": group("kibana", "kibana:saved_objects/*/write"),
		"kibana_all_read":  group("kibana", "kibana:saved_objects/*/read"),

		"unlimited": group("all", "*"),

		"cluster_all":     group("cluster", "cluster:*"),
		"cluster_monitor": group("cluster", "cluster:monitor/*"),
		"cluster_composite_ops_ro": group("cluster",
			"indices:data/read/mget", "indices:data/read/msearch", "indices:data/read/mtv",
			"indices:admin/aliases/exists*", "indices:admin/aliases/get*",
			"indices:data/read/scroll", "indices:admin/resolve/index"),
		"cluster_composite_ops": group("cluster",
			"indices:data/write/bulk", "indices:admin/aliases*", "indices:data/write/reindex",
			"cluster_composite_ops_ro"),
		"manage_snapshots": group("cluster", "cluster:admin/snapshot/*", "cluster:admin/repository/*"),
		"cluster_manage_index_templates": group("cluster",
			"indices:admin/template/*", "indices:admin/index_template/*", "cluster:admin/component_template/*"),
		"cluster_manage_pipelines": group("cluster", "cluster:admin/ingest/pipeline/*"),

		"indices_all": group("index", "indices:*"),
		"crud":        group("index", "read", "write"),
		"data_access": group("index", "indices:data/*", "crud"),
		"read": group("index",
			"indices:data/read*", "indices:admin/mappings/fields/get*", "indices:admin/resolve/index"),
		"write":  group("index", "indices:data/write*", "indices:admin/mapping/put"),
		"delete": group("index", "indices:data/write/delete*"),
		"index": group("index",
			"indices:data/write/index*", "indices:data/write/update*",
			"indices:admin/mapping/put", "indices:data/write/bulk*"),
		"get": group("index", "indices:data/read/get*", "indices:data/read/mget*"),
		"search": group("index",
			"indices:data/read/search*", "indices:data/read/msearch*", "indices:admin/resolve/index", "suggest"),
		"suggest":         group("index", "indices:data/read/suggest*"),
		"create_index":    group("index", "indices:admin/create", "indices:admin/mapping/put"),
		"manage":          group("index", "indices:monitor/*", "indices:admin/*"),
		"manage_aliases":  group("index", "indices:admin/aliases*"),
		"indices_monitor": group("index", "indices:monitor/*"),
		"manage_data_streams": group("index",
			"indices:admin/data_stream/*", "indices:monitor/data_stream/stats"),
		"manage_point_in_time": group("index",
			"indices:data/read/point_in_time/create", "indices:data/read/point_in_time/delete",
			"indices:data/read/point_in_time/readall", "indices:data/read/search",
			"indices:monitor/point_in_time/segments"),
	}
}

func on(patterns []string, actions ...string) IndexPermission {
	return IndexPermission{IndexPatterns: slices.Clone(patterns), AllowedActions: actions}
}

var (
	everywhere = []string{"*"}
	dashboards = []string{
		".kibana", ".kibana-6", ".kibana_*",
		".opensearch_dashboards", ".opensearch_dashboards-6", ".opensearch_dashboards_*",
	}
)

// builtInRoles returns the roles that need no file.
func builtInRoles() map[string]Role {
	roles := map[string]Role{
		"all_access": {
			Description:        "every index and every API of the cluster",
			ClusterPermissions: []string{"*"},
			IndexPermissions:   []IndexPermission{on(everywhere, "*")},
			TenantPermissions: []TenantPermission{
				{TenantPatterns: []string{"*"}, AllowedActions: []string{"kibana_all_write"}},
			},
		},
		"kibana_user": {
			Description:        "what a user of the dashboards needs",
			ClusterPermissions: []string{"cluster_composite_ops"},
			IndexPermissions: []IndexPermission{
				on(dashboards, "delete", "index", "manage", "read"),
				on([]string{".tasks", ".management-beats", "*:.tasks", "*:.management-beats"}, "indices_all"),
			},
		},
		"own_index": {
			Description:        "everything on the index that is named like the user",
			ClusterPermissions: []string{"cluster_composite_ops"},
			IndexPermissions:   []IndexPermission{on([]string{"${user_name}"}, "indices_all")},
		},
		"manage_snapshots": {
			Description:        "taking and restoring snapshots",
			ClusterPermissions: []string{"manage_snapshots"},
			IndexPermissions:   []IndexPermission{on(everywhere, "indices:admin/create", "indices:data/write/index")},
		},
		"kibana_server": {
			Description: "what the dashboards server needs",
			ClusterPermissions: []string{
				"cluster_composite_ops", "cluster_monitor", "indices:admin/index_template*",
				"indices:admin/template*", "indices:data/read/scroll*", "manage_point_in_time",
			},
			IndexPermissions: []IndexPermission{
				on(dashboards, "indices_all"),
				on([]string{".tasks", ".management-beats*"}, "indices_all"),
				on(everywhere, "indices:admin/aliases*"),
			},
		},
		"logstash": {
			Description: "what logstash and beats need",
			ClusterPermissions: []string{
				"cluster:admin/ingest/pipeline/get", "cluster:admin/ingest/pipeline/put",
				"cluster_composite_ops", "cluster_monitor",
				"indices:admin/template/get", "indices:admin/template/put",
			},
			IndexPermissions: []IndexPermission{
				on([]string{"logstash-*", "ecs-logstash-*"}, "create_index", "crud"),
				on([]string{"*beat*"}, "create_index", "crud"),
			},
		},
		"readall_and_monitor": {
			Description:        "reading every index, and watching the cluster",
			ClusterPermissions: []string{"cluster_composite_ops_ro", "cluster_monitor"},
			IndexPermissions:   []IndexPermission{on(everywhere, "read")},
		},
		"readall": {
			Description:        "reading every index",
			ClusterPermissions: []string{"cluster_composite_ops_ro"},
			IndexPermissions:   []IndexPermission{on(everywhere, "read")},
		},
	}
	for name, role := range roles {
		role.Reserved, role.Static = true, true
		roles[name] = role
	}
	return roles
}

// builtInTenants returns the tenants that need no file.
func builtInTenants() map[string]Tenant {
	return map[string]Tenant{
		"global_tenant": {Reserved: true, Static: true, Description: "shared by all users"},
	}
}
