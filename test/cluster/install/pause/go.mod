module drape/test/cluster/install/pause

go 1.26.0
